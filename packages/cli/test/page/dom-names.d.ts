// The types of playwright-core name these. All of the DOM's types would let the program use what Node does not have.
interface Node {
  readonly textContent: string | null
}
interface Element extends Node {
  getBoundingClientRect(): { readonly top: number; readonly height: number }
}
interface HTMLElement extends Element {
  readonly title: string
}
interface SVGElement extends Element {
  readonly id: string
}
interface HTMLElementTagNameMap {
  readonly body: HTMLElement
}
