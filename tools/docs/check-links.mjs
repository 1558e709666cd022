// Checks that relative links, images and anchors of the pages lead somewhere.
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns links that lead nowhere as `{ path, line, message }`. */
export function checkLinks(root, pages) {
  const anchors = new Map(pages.map(({ path, prose }) => [path, anchorsOf(prose)]))
  return pages.flatMap(({ path, prose }) =>
    linksOf(prose).flatMap(({ line, target }) => {
      const message = followLink(root, path, target, anchors)
      return message === undefined ? [] : { path, line, message }
    }),
  )
}

function followLink(root, path, target, anchors) {
  if (/^[a-z]+:/i.test(target)) return undefined
  const url = new URL(target, new URL(path, root))
  const file = fileURLToPath(new URL(url.pathname, root))
  if (!file.startsWith(fileURLToPath(root))) return `the link leaves the repository: ${target}`
  if (!existsSync(file)) return `there is no ${target}`
  const anchor = decodeURIComponent(url.hash.slice(1))
  const found = anchors.get(file.slice(fileURLToPath(root).length))
  if (anchor === '' || statSync(file).isDirectory() || found === undefined) return undefined
  return found.has(anchor) ? undefined : `there is no heading #${anchor} in ${target}`
}

/** Links that may go on in the next line, definitions of links, and attributes of HTML. */
function linksOf(prose) {
  const text = prose
    .map((line) => line.replace(/`[^`]*`/g, (code) => code.replace(/./g, 'x')))
    .join('\n')
  const found = [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
    ...text.matchAll(/^\s*\[[^\]]+\]:\s*(\S+)/gm),
    ...text.matchAll(/\b(?:src|srcset|href)="([^"\s]+)/g),
  ]
  return found.map(({ 1: target, index }) => ({
    line: text.slice(0, index).split('\n').length,
    target,
  }))
}

/** The anchors that GitHub gives to headings, and those of HTML. */
export function anchorsOf(prose) {
  const anchors = new Set()
  const counts = new Map()
  for (const line of prose) {
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? []
    if (heading === undefined) continue
    const slug = slugOf(heading)
    const count = counts.get(slug) ?? 0
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
    counts.set(slug, count + 1)
  }
  return anchors
}

function slugOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(?=\W)/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')
}
