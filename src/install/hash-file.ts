import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** SHA of a file. */
export async function hashFile(
  path: string,
  algorithm: 'sha256' | 'sha512' = 'sha256',
  encoding: 'hex' | 'base64' = 'hex',
): Promise<string> {
  const hash = createHash(algorithm)
  for await (const some of createReadStream(path)) hash.update(some as Buffer)
  return hash.digest(encoding)
}
