import { refuseCredentials } from '../core/url/credentials.ts'
import {
  openQdrantCollection,
  type QdrantCollection,
  type QdrantCollectionOptions,
} from '../embed/qdrant-collection.ts'
import { systemClock } from '../fetch/clock.ts'
import { openServiceClient } from '../fetch/service-client.ts'
import { checkOptions, kindOfAll, type OptionKind } from './check-options.ts'

/** The collection to open, and how to reach its Qdrant server. */
export type QdrantStoreOptions = Pick<
  QdrantCollectionOptions,
  'url' | 'collection' | 'dimensions' | 'key' | 'timeoutMs' | 'signal'
>

/** A collection with its connections, which must be closed. */
export interface QdrantStore extends QdrantCollection {
  close(): Promise<void>
}

const KINDS: Readonly<Record<keyof QdrantStoreOptions, OptionKind>> = {
  ...kindOfAll('a text', 'url', 'collection', 'key'),
  ...kindOfAll('a number', 'dimensions', 'timeoutMs'),
  signal: 'an object',
}

/** Opens a Qdrant collection for the points of a pipeline. Only the origin of `url` is contacted. */
export async function openQdrantStore(options: QdrantStoreOptions): Promise<QdrantStore> {
  checkOptions(options, KINDS, ['url', 'collection', 'dimensions'])
  refuseCredentials('url', options.url, 'key')
  const client = openServiceClient({ origins: [options.url], userAgent: 'Pharos' })
  try {
    const collection = await openQdrantCollection({ ...options, client, clock: systemClock })
    return { ...collection, close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}
