const SVG = 'http://www.w3.org/2000/svg'

/** Returns an element of index.html. */
export const byId = (id) => document.getElementById(id)

/** Creates an element with attributes, and `text` as its text. Never from HTML, because the data is not trusted. */
export function element(name, { text, ...attributes } = {}, ...children) {
  return fill(document.createElement(name), text, attributes, children)
}

/** Creates an SVG element. */
export function shape(name, { text, ...attributes } = {}, ...children) {
  return fill(document.createElementNS(SVG, name), text, attributes, children)
}

/** Sets the text only if it differs, so that a selection is kept. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** Sets an attribute; undefined removes it. */
export function setAttribute(node, name, value) {
  if (value === undefined) node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

/** Sets the children of a node in order, and moves only what must move, so that the focus is kept. */
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
