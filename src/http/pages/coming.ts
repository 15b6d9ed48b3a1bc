import { html } from 'hono/html'
import { renderPage } from './layout.ts'
import { type Html, writeCounters } from './parts.ts'

/** `/analysis/ssr`: nothing has been analysed, and the page says so. */
export function renderAnalysis(): Html {
  return renderPage({
    title: 'Analysis',
    section: 'Analysis',
    body: html`${writeCounters([
      ['Runs', 'runs', 0],
      ['Pages analysed', 'pages', 0],
    ])}
<div class="panel notice"><p>Nothing has been analysed yet.</p><p class="quiet">This version crawls and searches; it does not analyse pages.</p></div>`,
  })
}

/** `/gazetteer`: no places are known, and the page says so. */
export function renderGazetteer(): Html {
  return renderPage({
    title: 'Gazetteer',
    section: 'Gazetteer',
    body: html`${writeCounters([
      ['Countries', 'countries', 0],
      ['Regions', 'regions', 0],
      ['Cities', 'cities', 0],
      ['Names', 'names', 0],
      ['Sources', 'sources', 0],
    ])}
<div class="panel notice"><p>No places are known yet.</p><p class="quiet">This version does not look for places in pages.</p></div>`,
  })
}
