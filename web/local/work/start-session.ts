import { openGrammars } from '../../../src/core/chunk/code-grammars.ts'
import { createEngine, type EmbeddingEngine, loadModel } from '../../../src/core/embedding/engine.ts'
import { sha256 } from '../../../src/core/hash.ts'
import { UserError } from '../user-error.ts'
import { createSession, type Session } from './session.ts'

declare const PAGE_BUILD: string

/**
 * Starts a session that loads its files from `base`, the address of the page. The model runs only in a worker, because loading it would
 * block a page.
 */
export function startSession(base: string, isWorker: boolean): Session {
  const load = async (path: string) => {
    const loadError = (cause?: unknown) => {
      const advice = 'Load the page once while online; after that it also works offline.'
      return new UserError(`A part of this page, ${path}, could not be loaded.`, advice, { cause })
    }
    const response = await fetch(new URL(path, base)).catch((error: unknown) => {
      throw loadError(error)
    })
    if (!response.ok) throw loadError()
    return new Uint8Array(await response.arrayBuffer())
  }
  return createSession({
    build: PAGE_BUILD,
    openGrammars: async () =>
      openGrammars({
        runtime: await load('grammars/web-tree-sitter.wasm'),
        load: (name) => load(`grammars/${name}.wasm`),
      }),
    ...(isWorker ? { openEngine: () => openEngine((name) => load(`model/${name}`)) } : {}),
  })
}

async function openEngine(load: (name: string) => Promise<Uint8Array<ArrayBuffer>>): Promise<EmbeddingEngine> {
  const [weights, model, vocabulary, relaxed, plain] = await Promise.all([
    load('weights.bin'),
    load('model.json'),
    load('vocab.txt'),
    load('kernel-relaxed.wasm'),
    load('kernel-plain.wasm'),
  ])
  const loaded = await loadModel(
    { 'weights.bin': weights, 'model.json': model, 'vocab.txt': vocabulary },
    { relaxed, plain },
    { digest },
  )
  return createEngine(loaded)
}

/** The browser hashes much faster and without blocking, but only in secure contexts. */
async function digest(data: Uint8Array): Promise<string> {
  if (crypto.subtle === undefined) return sha256(data)
  const bytes = await crypto.subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>)
  return Array.from(new Uint8Array(bytes), writeHex).join('')
}

function writeHex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
