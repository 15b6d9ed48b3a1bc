import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ListeningServer, listen } from './serve/listen.ts'

/** The sample site that ships with the program. */
const FOLDER = fileURLToPath(new URL('../../demo/site/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
}

const REDIRECTS: Readonly<Record<string, string>> = { '/guide/getting-started': '/guide/install' }

/** Serves the sample site on the loopback interface. */
export async function openDemoSite(): Promise<ListeningServer> {
  const files = await readSite()
  return listen(async (request) => {
    const { pathname, origin } = new URL(request.url)
    const moved = REDIRECTS[pathname]
    if (moved !== undefined) return new Response(null, { status: 301, headers: { location: moved } })
    const file = files.get(pathname)
    if (file === undefined) return new Response('not found', { status: 404 })
    // Sitemaps need absolute addresses, and the port differs in every run.
    return new Response(file.text.replaceAll('{origin}', origin), { headers: { 'content-type': file.type } })
  }, 0)
}

/** Files by the paths at which they are served: `guide/install.html` is at `/guide/install`, `de/index.html` at `/de/`. */
async function readSite(): Promise<ReadonlyMap<string, { readonly text: string; readonly type: string }>> {
  const names = (await readdir(FOLDER, { recursive: true })).filter((name) => extname(name) in TYPES)
  const files = names.map(async (name) => {
    const path = `/${name.replaceAll('\\', '/')}`.replace(/(?:(?<=\/)index)?\.html$/, '')
    return [path, { text: await readFile(join(FOLDER, name), 'utf8'), type: TYPES[extname(name)] ?? '' }] as const
  })
  return new Map(await Promise.all(files))
}
