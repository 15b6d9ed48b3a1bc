import { openLibrary } from '../../src/open-library.ts'
import { analyseLibrary } from '../../src/places/runs/analyse-library.ts'

/* A process that analyses a library, reports every step, and can be killed at any moment. */

const [path = '', batch = '5'] = process.argv.slice(2)
const library = await openLibrary({ path, version: '0' })
for await (const event of analyseLibrary(library, { batch: Number(batch) })) {
  const details =
    event.type === 'started' ? { isResumed: event.isResumed } : event.type === 'ended' ? { run: event.run } : {}
  process.stdout.write(`${JSON.stringify({ type: event.type, ...details })}\n`)
}
await library.close()
