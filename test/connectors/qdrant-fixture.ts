import { openServiceClient, type ServiceClient } from '../../src/fetch/service-client.ts'
import type { VectorSpace } from '../../src/library/ports/vectors.ts'
import { createQuickClock, type QuickClock } from './quick-clock.ts'
import { openQdrantServer, type QdrantServer, type QdrantServerOptions } from './servers/qdrant.ts'

/** A vector space with one dimension for each letter. */
export const SPACE: VectorSpace = { model: 'letters', fingerprint: 'a'.repeat(64), dimensions: 26 }

/** A Qdrant test server with a client. */
export interface QdrantFixture {
  readonly server: QdrantServer
  readonly client: ServiceClient
  readonly clock: QuickClock
  close(): Promise<void>
}

/** Opens a Qdrant test server and a client for it. */
export async function openQdrantFixture(options: QdrantServerOptions = {}): Promise<QdrantFixture> {
  const server = await openQdrantServer(options)
  const client = openServiceClient({ origins: [server.origin], userAgent: 'test' })
  const close = async (): Promise<void> => {
    await client.close()
    await server.close()
  }
  return { server, client, clock: createQuickClock(), close }
}

/** A vector of length 1 with the frequency of each letter. */
export function countLetters(text: string): Float32Array {
  const counts = new Float32Array(SPACE.dimensions)
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? ['a']) {
    const at = letter.charCodeAt(0) - 97
    counts[at] = (counts[at] ?? 0) + 1
  }
  const length = Math.hypot(...counts)
  return counts.map((count) => count / length)
}
