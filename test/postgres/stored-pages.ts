import { openDatabase } from '../../src/store/postgres/database/database.ts'

/** The stored form of a page, with the row ids of its chunks. */
export interface StoredPage {
  readonly key: string
  readonly markdown: string
  readonly links: readonly string[]
  readonly chunks: readonly { readonly number: number; readonly id: string }[]
}

/** The pages of a source as they are in the tables of a library, in the order of their keys. */
export async function readStoredPages(address: string, sourceId: string): Promise<StoredPage[]> {
  const db = await openDatabase(address, { connections: 1 })
  try {
    const found = await db.all<Omit<StoredPage, 'links'> & { links: string }>(
      `SELECT l.key, p.markdown, k.links,
         (SELECT json_agg(json_build_object('number', c.id, 'id', encode(substring(c.chunk_id FROM 2), 'hex')) ORDER BY c.position)
          FROM chunks c WHERE c.page = p.id) AS chunks
       FROM pages p JOIN ledger l ON l.id = p.id JOIN links k ON k.id = p.id JOIN sources s ON s.id = l.source
       WHERE s.uuid = $1 ORDER BY l.key`,
      [sourceId],
    )
    return found.map((page) => ({ ...page, links: JSON.parse(page.links) as string[] }))
  } finally {
    await db.close()
  }
}
