import { openGrammars } from '../../../src/core/chunk/code-grammars.ts'
import { Trouble } from '../trouble.ts'
import { createSession, type Session } from './session.ts'

declare const PAGE_BUILD: string

/** Starts what works, with the page's own files beside it. `base` is the address of the page. */
export function startSession(base: string): Session {
  const load = async (name: string) => {
    const failed = (cause?: unknown) => {
      const advice = 'Load the page once with a connection; from then on it is here without one.'
      return new Trouble(`A part of this page, ${name}, could not be loaded.`, advice, { cause })
    }
    const answer = await fetch(new URL(`grammars/${name}`, base)).catch((error: unknown) => {
      throw failed(error)
    })
    if (!answer.ok) throw failed()
    return new Uint8Array(await answer.arrayBuffer())
  }
  return createSession({
    build: PAGE_BUILD,
    openGrammars: async () =>
      openGrammars({ runtime: await load('web-tree-sitter.wasm'), load: (name) => load(`${name}.wasm`) }),
  })
}
