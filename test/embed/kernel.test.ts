import { expect, test } from 'vitest'
import { createRandom } from '../seeded.ts'
import { readKernelFiles } from './built-in-model.ts'

/*
 * Compares products of the kernel with the same sums in JavaScript. The processor decides which code path a machine takes, so all are
 * tested.
 */

interface KernelExports {
  product(...args: number[]): void
  dotProduct(...args: number[]): void
}

/** The part of the `WebAssembly` global that is used here, because the types of Node lack it. */
interface Assembly {
  readonly Memory: new (limits: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly
const { relaxed, plain } = readKernelFiles()
const ROWS = 5
const INPUTS = 1536
const OUTPUTS = 32
/** Addresses in the memory of the kernel, in bytes. */
const ADDRESSES = { activations: 65_536, rowScales: 131_072, weights: 196_608, scales: 262_144, biases: 266_240 }
const OFFSETS_ADDRESS = 270_336
const OUT_ADDRESS = 327_680

test.each([
  ['product of the relaxed SIMD build', relaxed, 'product'],
  ['dotProduct of the relaxed SIMD build', relaxed, 'dotProduct'],
  ['product of the plain SIMD build', plain, 'product'],
] as const)('%s is exact, also for the largest numbers', (_title, bytes, name) => {
  const memory = new Memory({ initial: 16, maximum: 16 })
  const kernel = new Instance(new Module(bytes), { env: { memory } }).exports as KernelExports
  const next = createRandom(3)
  const weightRows = Array.from({ length: OUTPUTS }, (_, j) =>
    Array.from({ length: INPUTS }, () => (j < 2 ? [127, -128][j] : undefined) ?? Math.floor(next() * 256) - 128),
  )
  const inputRows = Array.from({ length: ROWS }, (_, i) =>
    Array.from({ length: INPUTS }, () => (i === 0 ? 127 : 1 + Math.floor(next() * 127))),
  )
  const memoryBytes = new Int8Array(memory.buffer)
  const floats = new Float32Array(memory.buffer)
  for (const [i, row] of inputRows.entries()) memoryBytes.set(row, ADDRESSES.activations + i * INPUTS)
  for (const [j, row] of weightRows.entries()) {
    // The packed layout: panels of 16 outputs, four inputs of each at a time.
    for (const [k, weight] of row.entries()) {
      const panel = Math.floor(j / 16) * 16 * INPUTS
      memoryBytes[ADDRESSES.weights + panel + Math.floor(k / 4) * 64 + (j % 16) * 4 + (k % 4)] = weight
    }
  }
  floats.fill(1, ADDRESSES.rowScales / 4, ADDRESSES.rowScales / 4 + ROWS + 1)
  floats.fill(1, ADDRESSES.scales / 4, ADDRESSES.scales / 4 + OUTPUTS)
  const { activations, rowScales, weights, scales, biases } = ADDRESSES
  kernel[name](activations, rowScales, ROWS, INPUTS, OUTPUTS, weights, scales, biases, OFFSETS_ADDRESS, OUT_ADDRESS, 0)
  const out = OUT_ADDRESS / 4
  const found = inputRows.map((_, i) => [...floats.subarray(out + i * OUTPUTS, out + (i + 1) * OUTPUTS)])
  const sums = inputRows.map((row) => weightRows.map((w) => row.reduce((sum, x, k) => sum + x * (w[k] ?? 0), 0)))
  expect(found).toEqual(sums.map((row) => row.map((sum) => Math.fround(sum))))
})
