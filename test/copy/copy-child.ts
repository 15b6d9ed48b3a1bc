import { join } from 'node:path'

/* Copies a library and kills itself at the given step. Uses the build, which starts in a third of the time. */

const load = (path: string): Promise<unknown> => import(join(import.meta.dirname, '../../dist', path))
const { copyLibrary } = (await load(
  'library/copy/copy-library.js',
)) as typeof import('../../src/library/copy/copy-library.ts')
const { openLibrary } = (await load('open-library.js')) as typeof import('../../src/open-library.ts')

const [path = '', target = '', killStep = ''] = process.argv.slice(2)
const from = await openLibrary({ path, version: '0.0.0' })
const to = await openLibrary({ path: target, version: '0.0.0' })
let steps = 0
const onProgress = () => {
  if (++steps === Number(killStep)) process.kill(process.pid, 'SIGKILL')
}
await copyLibrary({ from, to, onProgress })
await from.close()
await to.close()
