import { readFileSync } from 'node:fs'
import type { KernelFiles } from '../../src/core/embedding/engine.ts'
import type { ModelFiles } from '../../src/core/embedding/model.ts'

/** Where the build puts the built-in model and its kernel. */
export const BUILT_IN_FOLDER = new URL('../../dist/web/local/model/', import.meta.url)

/** A text with its tokens and its vector, as published with the model. */
export interface ReferenceText {
  readonly text: string
  readonly ids: readonly number[]
  readonly vector: readonly number[]
}

function read(name: string): Uint8Array<ArrayBuffer> {
  return readFileSync(new URL(name, BUILT_IN_FOLDER))
}

/** The files of the model. */
export function readModelFiles(): ModelFiles {
  return { 'weights.bin': read('weights.bin'), 'model.json': read('model.json'), 'vocab.txt': read('vocab.txt') }
}

/** The two builds of the kernel. */
export function readKernelFiles(): KernelFiles {
  return { relaxed: read('kernel-relaxed.wasm'), plain: read('kernel-plain.wasm') }
}

/** The texts published with the model. */
export function readReference(): ReferenceText[] {
  return JSON.parse(readFileSync(new URL('../../model/reference.json', import.meta.url), 'utf8')) as ReferenceText[]
}

/** Texts of many kinds, the same at every call. */
export function listOddTexts(): string[] {
  return [
    '',
    ' ',
    'a',
    '\ud800',
    'x\udfff y\ud800',
    'word '.repeat(20_000),
    'x'.repeat(100_000),
    '\u0301'.repeat(500),
    '日本語のテキスト',
    '👩‍👩‍👧‍👦 𝒳 \u0000 \ufffd',
    'const x = await fetch(url, { signal })',
  ]
}
