import { sha256 as digest } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Sha256 } from './model.ts'

const encoder = new TextEncoder()

/** Portable synchronous SHA-256 (WebCrypto's is asynchronous). */
export const sha256: Sha256 = (data) => bytesToHex(digest(typeof data === 'string' ? encoder.encode(data) : data))
