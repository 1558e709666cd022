// Reads the section of a version in CHANGELOG.md, and makes the notes of its release.

/** The heading of a section: `## 0.1.0, 2026-12-31`, or `## 0.1.0, not released yet`. */
const HEADING = /^## (?<version>\d\S*), (?<when>.+)$/

/**
 * Returns the section of a version; undefined if there is none.
 *
 * @returns {{ date: string | undefined, body: string } | undefined} `date` is undefined if the version is not released yet.
 */
export function sectionOf(changelog, version) {
  const lines = changelog.split('\n')
  const first = lines.findIndex((line) => HEADING.exec(line)?.groups.version === version)
  if (first < 0) return undefined
  const rest = lines.slice(first + 1)
  const next = rest.findIndex((line) => line.startsWith('## '))
  const body = (next < 0 ? rest : rest.slice(0, next)).join('\n').trim()
  const { when } = HEADING.exec(lines[first]).groups
  return { date: /^\d{4}-\d\d-\d\d$/.test(when) ? when : undefined, body }
}

/** Returns the notes of a release. With a repository, links to files of the tree become links to the files at the tag. */
export function notesOf({ version, body, repository }) {
  const visible = body.replaceAll(/<!--.*?-->/gs, '').trim()
  const text =
    repository === undefined
      ? visible
      : visible.replaceAll(
          /\]\((?![a-z]+:|#)(?<path>[^)]+)\)/g,
          (_, path) => `](${repository}/blob/v${version}/${path})`,
        )
  return `${text}

**To verify**

- \`sha256sum -c SHA256SUMS\` checks the files of this release.
- \`npm audit signatures\`, in a project that has installed a package, checks that the release workflow of this repository made it.
- \`kubecred-${version}.cdx.json\` lists every package that is installed or bundled (CycloneDX).
`
}
