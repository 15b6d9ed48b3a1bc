// Cost of finding places in texts: opening the names of the world, and scanning 1,000 words with them.
//
//   npm run bench places [--words 20000] [--data <folder>]
//
// Downloads the gazetteer's data with npm unless it is present. The texts are news-like sentences in several scripts with real place names,
// about one in fifteen words. The baseline is the obvious solution: a Map of all names, queried for every window of up to six words of a
// text split at spaces. The baseline has no scores, finds nothing in scripts without spaces, and accepts every word that is a name.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlaceMatcher } from '../src/places/analysis/open-matcher.ts'
import { normalizeName } from '../src/places/analysis/place.ts'
import { writeNameIndex } from '../src/places/analysis/write-name-index.ts'
import { importWorld } from '../src/places/gazetteer/import-world.ts'
import { openPlaceTables } from '../src/places/store/open-places.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { cpuSeconds, option, printTable } from './measure.mjs'

/** Number of words to scan in each language. */
const wordTarget = Number(option('words') ?? 20_000)
const folder = mkdtempSync(join(tmpdir(), 'pharos-places-'))
const data = option('data') ?? join(folder, 'data')
const store = await openSqliteStore(join(folder, 'library.db'))
const { gazetteer } = await openPlaceTables(store)
const importStart = process.cpuUsage()
await importWorld(gazetteer, { folder: data, now: Date.now() })
const importSeconds = cpuSeconds(importStart)
const index = await gazetteer.readIndex()
const records = []
for await (const record of gazetteer.exportPlaces()) records.push(record)
await store.close()
rmSync(folder, { recursive: true, force: true })

const nameCount = records.reduce((sum, record) => sum + record.names.length, 0)
console.log(
  `${records.length} places, ${nameCount} names; imported in ${importSeconds.toFixed(1)} CPU s; index of ${(index.length / 1e6).toFixed(1)} MB`,
)

const places = records.map((record, i) => ({ ...record, id: i + 1, name: record.names[0].name }))
const writeStart = process.cpuUsage()
writeNameIndex(places, 'bench')
const writeSeconds = cpuSeconds(writeStart)

const matcher = measureWork(() => openPlaceMatcher(index))
const nameMap = measureWork(() => {
  const map = new Map()
  for (const place of places) for (const { name } of place.names) map.set(normalizeName(name), place)
  return map
})

const TEXTS = {
  English: [
    'The prime minister flew from London to Brussels on Tuesday for talks that lasted until midnight.',
    'Officials in Washington declined to comment on the report, which was first published last week.',
    'Heavy rain closed schools in Paris, Texas, and several roads near Dallas were under water.',
    'It was not clear whether the company would appeal, a spokesman said after the hearing ended.',
  ],
  German: [
    'Die Ministerin reiste am Montag von Berlin nach Warschau, um über die Grenze zu sprechen.',
    'Nach dem Essen blieb die Halle leer, und niemand wollte die Fragen der Zeitung beantworten.',
  ],
  Russian: [
    'В Москве прошли переговоры с делегацией из Китая, сообщили в пятницу вечером источники.',
    'Погода на этой неделе будет холодной, а дороги останутся скользкими до самого утра.',
  ],
  Arabic: ['وصل الرئيس إلى القاهرة مساء اليوم لإجراء محادثات حول الاتفاق الجديد بين البلدين.'],
  Hindi: ['प्रधानमंत्री ने दिल्ली में जापान के राजदूत से मुलाकात की और कई समझौतों पर चर्चा हुई।'],
  Chinese: ['一架从东京飞往伦敦的客机星期三晚上紧急降落，机上没有人受伤，航空公司表示遗憾。'],
  Japanese: ['首相は東京で韓国の大統領と会談し、両国の経済協力について話し合ったと発表した。'],
  Korean: ['서울에서 열린 회의에 일본 총리가 참석해 두 나라의 관계를 논의했다고 정부가 밝혔다.'],
}

// Warms up until everything is compiled.
const warmUpText = Object.values(TEXTS).flat().join(' ')
for (let i = 0; i < 300; i++) matcher.value.inText(warmUpText)
const rows = []
for (const [language, sentences] of Object.entries(TEXTS)) {
  const text = Array.from({ length: 40 }, (_, i) => sentences[i % sentences.length]).join(' ')
  // In scripts without spaces, about two characters count as a word.
  const count = /Chinese|Japanese/.test(language) ? text.length / 2 : text.split(/\s+/).length
  const ours = measurePerThousandWords(() => matcher.value.inText(text).length, count)
  const baseline = measurePerThousandWords(() => countNames(nameMap.value, text), count)
  rows.push([language, Math.round(count), ours.ms.toFixed(2), ours.found, baseline.ms.toFixed(2), baseline.found])
}
printTable(['', 'words', 'ms/1,000 words', 'found', 'Map: ms/1,000 words', 'Map: found'], rows)
printTable(
  ['', 'CPU ms', 'MB kept'],
  [
    [
      'pharos: open the index',
      (matcher.seconds * 1000).toFixed(1),
      (index.length / 1e6 + matcher.megabytes).toFixed(1),
    ],
    ['Map of all names: build', (nameMap.seconds * 1000).toFixed(1), nameMap.megabytes.toFixed(1)],
    ['pharos: write the index (at import)', (writeSeconds * 1000).toFixed(1), ''],
  ],
)

function measurePerThousandWords(work, count) {
  let found = work()
  for (let i = 0; i < 5; i++) work()
  const rounds = Math.max(3, Math.ceil(wordTarget / count))
  const start = process.cpuUsage()
  for (let i = 0; i < rounds; i++) found = work()
  return { ms: (cpuSeconds(start) * 1000 * 1000) / (rounds * count), found }
}

function countNames(map, text) {
  const parts = text.split(/[\s.,;!?]+/)
  let found = 0
  for (let at = 0; at < parts.length; ) {
    let matched = 0
    for (let count = Math.min(6, parts.length - at); count > 0 && matched === 0; count--) {
      if (map.has(normalizeName(parts.slice(at, at + count).join(' ')))) matched = count
    }
    found += matched > 0 ? 1 : 0
    at += Math.max(1, matched)
  }
  return found
}

/** Returns the result of the work, its CPU seconds and the memory it retains. */
function measureWork(work) {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const start = process.cpuUsage()
  const value = work()
  const seconds = cpuSeconds(start)
  globalThis.gc?.()
  const after = process.memoryUsage()
  return { value, seconds, megabytes: Math.max(0, after.heapUsed - before.heapUsed) / 1e6 }
}
