import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'

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
  const names = (await readdir(FOLDER)).filter((name) => extname(name) in TYPES)
  const entries = names.map(async (name): Promise<[string, PageFile]> => {
    const body = await readFile(new URL(name, FOLDER))
    const path = name === 'index.html' ? '/' : `/${name}`
    return [path, { type: TYPES[extname(name)] ?? '', body }]
  })
  return new Map(await Promise.all(entries))
}
