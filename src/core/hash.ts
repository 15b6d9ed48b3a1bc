import { sha256 as digest } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Sha256 } from './model.ts'

const encoder = new TextEncoder()

/** SHA-256 that runs anywhere and answers at once (WebCrypto's is asynchronous). */
export const sha256: Sha256 = (data) => bytesToHex(digest(typeof data === 'string' ? encoder.encode(data) : data))
