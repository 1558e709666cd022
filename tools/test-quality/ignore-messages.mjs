// A plugin of Stryker: the words of an error are not mutated. Programs switch on its code, and so do tests.

export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore } }]

function shouldIgnore(path) {
  if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined
  return path.findParent(isNewError) ? 'the words of an error' : undefined
}

function isNewError(path) {
  return path.isNewExpression() && /Error$/.test(path.node.callee.name ?? '')
}
