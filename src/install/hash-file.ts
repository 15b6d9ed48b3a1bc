import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** The SHA-256 or SHA-512 hash of a file. */
export async function hashFile(
  path: string,
  algorithm: 'sha256' | 'sha512' = 'sha256',
  encoding: 'hex' | 'base64' = 'hex',
): Promise<string> {
  const hash = createHash(algorithm)
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest(encoding)
}
