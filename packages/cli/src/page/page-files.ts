import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { getAsset, isSea } from 'node:sea'

/** A file of the page, in memory. */
export interface PageFile {
  readonly type: string
  readonly body: Buffer
}

const FOLDER = new URL('../../page/', import.meta.url)
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads all files of the page, keyed by URL path. Paths of requests are never used to access the disk. */
export async function loadPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const files = isSea() ? insideExecutable() : await inFolder()
  return new Map(
    files.map(([name, body]) => {
      const path = name === 'index.html' ? '/' : `/${name}`
      return [path, { type: TYPES[extname(name)] ?? '', body }]
    }),
  )
}

type NamedFile = readonly [name: string, body: Buffer]

async function inFolder(): Promise<NamedFile[]> {
  const names = (await readdir(FOLDER)).filter((name) => extname(name) in TYPES)
  return Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, FOLDER))] as const),
  )
}

function insideExecutable(): NamedFile[] {
  const files = JSON.parse(getAsset('page', 'utf8')) as Record<string, string>
  return Object.entries(files).map(([name, text]) => [name, Buffer.from(text)] as const)
}
