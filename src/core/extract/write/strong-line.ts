import type { Block } from './block.ts'
import { InlineRun } from './inline.ts'

/** A paragraph of strong text. */
export function strongLine(source: string): Block {
  const run = new InlineRun(false)
  const mark = run.open('**')
  run.addText(source)
  run.close(mark)
  return { type: 'paragraph', text: run.finishLine() }
}
