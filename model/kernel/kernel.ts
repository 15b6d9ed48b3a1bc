/*
 * The arithmetic of the embedding model, in AssemblyScript. `scripts/build.mjs` compiles it twice: with relaxed SIMD and without. Both give
 * the same results. The kernel owns no memory: src/core/embedding/engine.ts lays out the memory and checks the inputs.
 */
export { attend } from './attention'
export { dotProduct, hasDot, product } from './product'
export { activate, expand, normalize, pool, quantize, writeGelu } from './rows'
