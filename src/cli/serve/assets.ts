import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Asset } from '../../http/ports.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.LICENSE': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
}

/** Media types that compress well. */
const COMPRESSIBLE = /^text\/|svg|json/

/** The build puts a content hash into these file names. */
const HASHED_PATH = /^\/assets\/.+-[\w-]{8}\.\w+$/

/** The folder of a built page, whether the program runs from its build or from its sources. */
export function pageFolder(page: 'dashboard' | 'local'): string {
  const built = fileURLToPath(new URL(`../../web/${page}/`, import.meta.url))
  return existsSync(built) ? built : fileURLToPath(new URL(`../../../dist/web/${page}/`, import.meta.url))
}

/** Serves the files of a folder by path. All are read on the first request and cached with a compressed copy. */
export function createAssets(folder: string): (path: string) => Promise<Asset | undefined> {
  let files: Promise<ReadonlyMap<string, Asset>> | undefined
  return async (path) => {
    files ??= readAll(folder)
    // A folder that could not be read, or is empty, is read again on the next request, because a build may be running.
    const all = await files.catch((error: unknown) => {
      files = undefined
      throw error
    })
    if (all.size === 0) files = undefined
    return all.get(path === '/' ? '/index.html' : path)
  }
}

/** File names as the build creates them, which cannot lead out of the folder. */
const SAFE_PATH = /^(?:\/\w[\w.-]*)+$/
const MISSING_FILE_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']

/** Serves the files of a folder by path. Each is read on request and not cached, because the large ones are rarely requested. */
export function createLazyAssets(folder: string): (path: string) => Promise<Asset | undefined> {
  return async (path) => {
    if (!SAFE_PATH.test(path)) return undefined
    const file = await open(join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (MISSING_FILE_CODES.includes(error.code ?? '')) return undefined
      throw error
    })
    try {
      const stat = await file?.stat()
      if (file === undefined || stat?.isFile() !== true) return undefined
      const body = await file.readFile()
      return { body, type: typeOf(path), isImmutable: HASHED_PATH.test(path), etag: writeEtag(body) }
    } finally {
      await file?.close()
    }
  }
}

/** The ETag is a content hash: all files of a package have the same time, and two builds can have the same size. */
function writeEtag(body: Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`
}

async function readAll(folder: string): Promise<ReadonlyMap<string, Asset>> {
  if (!existsSync(folder)) return new Map()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = join(parentPath, name)
        const path = `/${file
          .slice(folder.length)
          .replace(/^[/\\]/, '')
          .replaceAll('\\', '/')}`
        return [path, await readAsset(file, path)] as const
      }),
  )
  return new Map(files)
}

async function readAsset(file: string, path: string): Promise<Asset> {
  const body = new Uint8Array(await readFile(file))
  const type = typeOf(path)
  const packed = COMPRESSIBLE.test(type) ? new Uint8Array(await promisify(gzip)(body)) : body
  return {
    body,
    type,
    isImmutable: HASHED_PATH.test(path),
    ...(packed.length < body.length ? { gzipped: packed } : {}),
  }
}

function typeOf(path: string): string {
  return TYPES[extname(path)] ?? 'application/octet-stream'
}
