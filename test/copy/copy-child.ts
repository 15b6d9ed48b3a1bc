import { copyLibrary } from '../../src/library/operations/copy-library.ts'
import { openLibrary } from '../../src/open-library.ts'

/* Copies a library and prints a line for every step: for whoever wants to end it in the middle. */

const [from = '', to = ''] = process.argv.slice(2)
const libraries = [
  await openLibrary({ path: from, version: '0.0.0' }),
  await openLibrary({ path: to, version: '0.0.0' }),
]
const [one, other] = libraries
if (one === undefined || other === undefined) throw new Error('expected two libraries')
await copyLibrary({ from: one, to: other, onProgress: ({ step }) => void process.stdout.write(`${step}\n`) })
for (const library of libraries) await library.close()
