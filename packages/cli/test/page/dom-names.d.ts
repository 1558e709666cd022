// The types of playwright-core refer to these. The full DOM types would declare globals that Node does not have.
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
