import { UNSAFE_CHARACTERS } from '../../core/text/sanitize-text.ts'

/**
 * The script of the server-rendered pages. It writes text and never markup, fills copies of a row that the server has rendered, and leaves
 * the page unchanged when events are unavailable. Rows are added once per frame, however many events arrive.
 */
export const LIVE_SCRIPT: string = `const body = document.body
const status = document.querySelector('[data-status]')
const match = JSON.parse(body.dataset.match ?? '{}')
const pills = JSON.parse(body.dataset.pills ?? '{}')
const labels = JSON.parse(body.dataset.labels ?? '{}')
const titles = JSON.parse(body.dataset.titles ?? '{}')
const { news } = body.dataset
const since = JSON.parse(body.dataset.since ?? '{}')
const unshowable = ${UNSAFE_CHARACTERS}

// On a narrow screen the navigation scrolls, and its current entry may be out of view.
for (const link of document.querySelectorAll('nav [aria-current]')) link.scrollIntoView({ block: 'nearest', inline: 'center' })

const units = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]]
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

function sinceWords(iso) {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1000)
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1)
  return relative.format(Math.trunc(seconds / size), unit)
}

function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    if (time.title === '') time.title = exact.format(Date.parse(time.getAttribute('datetime')))
    showTime(time)
  }
}

function showTime(time) {
  time.textContent = 'exact' in time.dataset ? time.title : sinceWords(time.getAttribute('datetime'))
}

const writers = {
  TIME(element, value) {
    const iso = typeof value === 'number' || typeof value === 'string' ? new Date(value) : undefined
    if (iso === undefined || Number.isNaN(iso.valueOf())) return
    element.setAttribute('datetime', iso.toISOString())
    element.title = exact.format(iso)
    showTime(element)
  },
  A(element, value, values) {
    const base = element.dataset.base ?? '/url?url='
    element.href = base + encodeURIComponent(value) + (element.dataset.end ?? '')
    element.textContent = element.dataset.label ?? show(values[element.dataset.text] ?? value)
  },
  SPAN(element, value) {
    const isPill = element.classList.contains('pill')
    if (isPill) element.className = pills[value] ?? 'pill'
    element.textContent = show(isPill || ['reason', 'stage'].includes(element.dataset.field) ? label(value) : value)
  },
}

function label(code) {
  return labels[code] ?? String(code).replaceAll('-', ' ')
}

function show(value) {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return value.toLocaleString('en-US')
  return String(typeof value === 'object' ? showDetails(value) : value).replace(unshowable, '\\ufffd')
}

function showDetails(details) {
  const words = Object.entries(details).filter(([, value]) => typeof value !== 'object')
  return words.map(([name, value]) => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ' ' + letter.toLowerCase()) + ' ' + value).join(', ')
}

function fill(row, values) {
  for (const element of row.querySelectorAll('[data-field]')) {
    const name = element.dataset.field
    if (!(name in values)) continue
    const write = writers[element.tagName] ?? writers.SPAN
    write(element, values[name] ?? '', values)
  }
}

const waiting = []
let isScheduled = false
let added = 0
let announced = 0
let announcedAt = 0
let announceTimer

function schedule(work) {
  waiting.push(work)
  if (waiting.length > 2000) waiting.splice(0, waiting.length - 2000)
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    for (const work of waiting.splice(0)) work()
    announce()
  })
}

// Announces new entries at most every five seconds, because screen readers read every change aloud.
function announce(words) {
  if (words === undefined) {
    if (added === announced) return
    const restMs = announcedAt + 5000 - Date.now()
    if (restMs > 0) {
      announceTimer ??= setTimeout(() => {
        announceTimer = undefined
        announce()
      }, restMs)
      return
    }
    announced = added
    announcedAt = Date.now()
  }
  status.dataset.state = 'on'
  status.textContent = words ?? 'Live, ' + added.toLocaleString('en-US') + ' new'
  if (news === undefined || words !== undefined) return
  const link = document.createElement('a')
  link.href = location.href
  link.textContent = 'reload'
  status.append(' since this page was loaded: ', link)
}

// Counts new entries on pages to which rows cannot be added.
const latest = {}

function countNews(values) {
  const count = values[news]
  if (typeof count !== 'number') return
  latest[values.jobId] = Math.max(0, count - (since[values.jobId]?.[news] ?? 0))
  added = Object.values(latest).reduce((sum, count) => sum + count, 0)
}

function addRow(name, values, id) {
  const list = document.querySelector('[data-live="' + name + '"]')
  const template = document.querySelector('template[data-row="' + name + '"]')
  if (list === null || template === null) return undefined
  const row = template.content.firstElementChild.cloneNode(true)
  if (id !== undefined) row.dataset.id = id
  row.classList.add('fresh')
  fill(row, values)
  list.prepend(row)
  while (list.children.length > Number(list.dataset.most)) list.lastElementChild.remove()
  list.closest('[data-box]').hidden = false
  document.querySelector('[data-empty]')?.remove()
  added += 1
  return row
}

function matchesFilters(values) {
  return Object.entries(match).every(([name, value]) => value === '' || values[name] === value)
}

function rowOf(id, list = 'jobs') {
  return document.querySelector('[data-live="' + list + '"] [data-id="' + CSS.escape(id) + '"]')
}

// The title and the sentence of a problem or milestone, with the address that the sentence does not name.
function describe({ kind = '', message, target }) {
  const words = String(kind).replaceAll('-', ' ')
  const text = (message ?? '').replace(/(?<=\\()([a-z]+(?:-[a-z\\d]+)+)(?=[,:)])(?:, render \\w+)?/g, (_, code) => label(code))
  const start = /^\\w+:\\/\\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
  const sentence = text === '' || /[.!?]$/.test(text) ? start : start + '.'
  const rest = target && !sentence.includes(target) ? ' ' + target : ''
  return { title: titles[kind] ?? words.charAt(0).toUpperCase() + words.slice(1), message: sentence + rest }
}

function addNote(name) {
  return (values) => {
    if (!matchesFilters(values)) return
    schedule(() => addRow(name, { ...values, ...describe(values), at: values.ts ?? Date.now() }))
  }
}

const listeners = {
  queue: addNote('queue'),
  problem: addNote('problem'),
  milestone: addNote('milestone'),
  progress(values) {
    if (news !== undefined) return schedule(() => countNews(values))
    schedule(() => {
      const { saved, unchanged, errors } = values
      const row = rowOf(String(values.jobId))
      if (row !== null) fill(row, { saved, unchanged, errors })
      for (const element of document.querySelectorAll('[data-counter]')) {
        const value = values[element.dataset.counter]
        if (typeof value === 'number') element.textContent = show(value)
      }
    })
  },
  jobs({ items }) {
    schedule(() => {
      for (const job of [...items].reverse()) {
        const row = rowOf(job.id) ?? addRow('jobs', job, job.id)
        if (row) fill(row, { status: job.status, startedAt: job.startedAt })
        const panel = document.querySelector('[data-job="' + CSS.escape(job.id) + '"]')
        if (panel) fill(panel, { status: job.status })
      }
    })
  },
  analysis({ runId, status, stage, lastProgress, ts }) {
    schedule(() => {
      const row = rowOf(String(runId), 'analysis') ?? addRow('analysis', { id: runId, startedAt: ts }, runId)
      if (row) fill(row, { ...lastProgress, status, stage })
    })
  },
  done({ jobId, endedAt, status: ended, unread }) {
    const status = ended === 'done' && unread > 0 ? 'page limit' : ended
    schedule(() => {
      const shown = rowOf(String(jobId)) ?? document.querySelector('[data-job="' + CSS.escape(String(jobId)) + '"]')
      const started = shown?.querySelector('[data-field="startedAt"]')?.getAttribute('datetime')
      const took = started && endedAt ? writeSpan(Date.parse(endedAt) - Date.parse(started)) : ''
      if (shown) fill(shown, { endedAt, took, unread, ...(status === undefined ? {} : { status }) })
    })
  },
}

// The style sheet has the dark colors once, in a media query. A chosen theme replaces the condition of that query.
const themes = ['auto', 'light', 'dark']
const darkRules = [...document.styleSheets]
  .flatMap(({ cssRules }) => [...cssRules])
  .filter((rule) => rule.media?.mediaText === '(prefers-color-scheme: dark)')

function readTheme() {
  try {
    const chosen = localStorage.getItem('pharos-theme')
    return themes.includes(chosen) ? chosen : 'auto'
  } catch {
    return 'auto'
  }
}

function showTheme(chosen) {
  const condition = { auto: '(prefers-color-scheme: dark)', light: 'not all', dark: 'all' }[chosen]
  for (const rule of darkRules) rule.media.mediaText = condition
  document.documentElement.style.colorScheme = chosen === 'auto' ? '' : chosen
  const word = { auto: 'System', light: 'Light', dark: 'Dark' }[chosen]
  const label = document.createElement('span')
  label.className = 'theme-word'
  label.textContent = ' ' + word
  themeButton?.replaceChildren({ auto: '\\u25d0', light: '\\u2600', dark: '\\u263e' }[chosen], label)
  themeButton?.setAttribute('aria-label', 'Colours: ' + word)
}

const themeButton = document.querySelector('[data-theme]')
if (themeButton !== null) {
  themeButton.hidden = false
  themeButton.addEventListener('click', () => {
    const next = themes[(themes.indexOf(readTheme()) + 1) % themes.length]
    try {
      if (next === 'auto') localStorage.removeItem('pharos-theme')
      else localStorage.setItem('pharos-theme', next)
    } catch {
      // A browser that stores nothing shows the theme on this page only.
    }
    showTheme(next)
  })
}
showTheme(readTheme())
showTimes(document)
setInterval(() => showTimes(document), 15000)

// Sends the requests of the API page, and shows the answers as text.
for (const form of document.querySelectorAll('form[data-try]')) {
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const state = form.querySelector('[data-answer-status]')
    const answer = form.querySelector('[data-answer]')
    state.textContent = 'Sending'
    let path = form.dataset.try
    const query = new URLSearchParams()
    for (const input of form.querySelectorAll('[data-in]')) {
      if (input.value === '') continue
      if (input.dataset.in === 'path') path = path.replace('{' + input.name + '}', encodeURIComponent(input.value))
      else query.set(input.name, input.value)
    }
    const body = form.elements.namedItem('body')?.value
    const init = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }
    const began = performance.now()
    try {
      const response = await fetch(path + (query.size === 0 ? '' : '?' + query), { method: form.dataset.method, ...init })
      const text = await response.text()
      state.textContent = response.status + ' ' + response.statusText + ', ' + Math.round(performance.now() - began) + ' ms, ' + text.length.toLocaleString('en-US') + ' characters'
      answer.hidden = false
      answer.textContent = indent(text).slice(0, 100000)
    } catch {
      state.textContent = 'The server cannot be reached'
    }
  })
}

function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

let events
let hideTimer

function subscribe(words) {
  events = new EventSource(body.dataset.events)
  for (const [name, listen] of Object.entries(listeners)) {
    events.addEventListener(name, (event) => {
      let values
      try {
        values = JSON.parse(event.data)
      } catch {
        return
      }
      listen(values)
    })
  }
  events.addEventListener('open', () => announce(words))
  events.addEventListener('error', () => {
    status.dataset.state = 'off'
    status.textContent = 'Not live: reload to see what is new'
  })
}

function unsubscribe() {
  events?.close()
  events = undefined
}

function resubscribe() {
  clearTimeout(hideTimer)
  if (events === undefined) subscribe('Live again: reload to see what you missed')
}

// Polls the shown run until it is over.
const pollMs = 5000

async function poll() {
  const response = await fetch(body.dataset.poll)
  if (!response.ok) throw new Error(String(response.status))
  const { run, events: runEvents } = await response.json()
  showRun(run)
  for (const event of runEvents.toReversed()) {
    if (rowOf(String(event.id), 'events') === null) addRow('events', event, event.id)
  }
  status.dataset.state = 'on'
  status.textContent = run.status === 'running' ? 'Live' : 'This run has ended'
  return run.status === 'running'
}

function writeSpan(ms) {
  const seconds = Math.floor(ms / 1000)
  return seconds < 60 ? seconds + 's' : Math.floor(seconds / 60) + 'm ' + (seconds % 60) + 's'
}

function showRun(run) {
  const { lastProgress } = run
  const took = writeSpan(run.durationMs)
  const share = show(lastProgress.pages) + ' of ' + show(lastProgress.totalPages)
  const panel = document.querySelector('[data-run]')
  fill(panel, { status: run.status, stage: run.stage, took, share, error: run.error })
  if (run.endedAt !== null) fill(panel, { endedAt: run.endedAt })
  const bar = panel.querySelector('[data-progress]')
  bar.max = Math.max(1, lastProgress.totalPages)
  bar.value = lastProgress.pages
  for (const element of document.querySelectorAll('[data-counter]')) {
    const value = lastProgress[element.dataset.counter]
    if (typeof value === 'number') element.textContent = show(value)
  }
}

async function keepPolling() {
  let isActive = true
  while (isActive) {
    try {
      isActive = await poll()
    } catch {
      status.dataset.state = 'off'
      status.textContent = 'Not live: retrying'
    }
    if (isActive) await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

if (body.dataset.poll !== undefined) keepPolling()

if (body.dataset.events !== undefined) {
  subscribe('Live')
  // Browsers allow only few connections to one server, so a hidden page closes its own after a minute.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hideTimer = setTimeout(unsubscribe, 60000)
    else resubscribe()
  })
  addEventListener('pagehide', unsubscribe)
  addEventListener('pageshow', resubscribe)
}
`
