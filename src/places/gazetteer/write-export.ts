import type { Gazetteer, StoredGazetteerSource } from '../ports/gazetteer.ts'

/** The lines of an export: first the sources and licences, then every place. */
export async function* writeExport(gazetteer: Gazetteer): AsyncGenerator<string> {
  const { sources } = await gazetteer.summary()
  yield `${JSON.stringify({ pharos: 'gazetteer', form: 1, sources: sources.map(toCredit) })}\n`
  for await (const place of gazetteer.exportPlaces()) yield `${JSON.stringify(place)}\n`
}

/** Drops import time and place count, which mean nothing elsewhere. */
function toCredit({
  name,
  version,
  license,
  attribution,
  url,
}: StoredGazetteerSource): Omit<StoredGazetteerSource, 'importedAt' | 'places'> {
  return { name, version, license, attribution, url }
}
