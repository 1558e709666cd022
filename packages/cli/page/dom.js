const SVG = 'http://www.w3.org/2000/svg'

/** Finds an element that index.html is known to have. */
export const byId = (id) => document.getElementById(id)

/** Makes an element: attributes by name, `text` for its text. Never HTML: what is shown comes from elsewhere. */
export function element(name, { text, ...attributes } = {}, ...children) {
  return fill(document.createElement(name), text, attributes, children)
}

/** The same in a drawing. */
export function shape(name, { text, ...attributes } = {}, ...children) {
  return fill(document.createElementNS(SVG, name), text, attributes, children)
}

/** Sets text only where it differs, so that a reader's selection survives. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** Sets an attribute; undefined removes it. */
export function setAttribute(node, name, value) {
  if (value === undefined) node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

/** Brings the children of a node into the given order, and moves only what must be moved: the focus stays. */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes)
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove()
  let next = parent.firstElementChild
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling
    else parent.insertBefore(node, next)
  }
}

function fill(node, text, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, value)
  }
  if (text !== undefined) node.textContent = text
  node.append(...children)
  return node
}
