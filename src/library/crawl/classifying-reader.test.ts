import { expect, test } from 'vitest'
import { CLASSIFIER_VERSION } from '../../core/classify/classify-page.ts'
import { readPage } from '../../crawl/read-page.ts'
import { classifyReading } from './classifying-reader.ts'

test('classifyReading adds the page class to a reading', () => {
  const links = Array.from({ length: 15 }, (_, i) => `<li><a href="/a/${i}">A page about ${i}</a></li>`).join('')
  const reading = readPage({ url: 'https://news.example/', body: `<h1>News</h1><ul>${links}</ul>` }, '/')
  const classified = classifyReading(reading)
  expect(classified.record?.classification).toMatchObject({ kind: 'nav', version: CLASSIFIER_VERSION })
  expect(classified.record?.page).toBe(reading.record?.page)
})

test('classifyReading returns a reading without a page unchanged', () => {
  const reading = readPage({ url: 'https://news.example/', body: '' }, '/')
  expect(classifyReading(reading)).toBe(reading)
})
