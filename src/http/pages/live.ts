/**
 * The script of the server-rendered pages. It writes text and never markup, fills copies of a row that the server has rendered, and
 * leaves the page as it is where events cannot be had. Rows are added once per frame, however many events come.
 */
export const LIVE_SCRIPT = `const body = document.body
const status = document.querySelector('[data-status]')
const match = JSON.parse(body.dataset.match ?? '{}')
const pills = JSON.parse(body.dataset.pills ?? '{}')
const unshowable = /[\\p{Cc}\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]/gu

const units = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

function sinceWords(iso) {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1000)
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1)
  return relative.format(Math.trunc(seconds / size), unit)
}

function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const iso = time.getAttribute('datetime')
    if (time.title === '') time.title = time.textContent || iso
    time.textContent = time.closest('.facts') === null ? sinceWords(iso) : time.title + ', ' + sinceWords(iso)
  }
}

const writers = {
  TIME(element, value) {
    const iso = typeof value === 'number' || typeof value === 'string' ? new Date(value) : undefined
    if (iso === undefined || Number.isNaN(iso.valueOf())) return
    element.setAttribute('datetime', iso.toISOString())
    element.title = iso.toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
    element.textContent = sinceWords(iso.toISOString())
  },
  A(element, value) {
    const base = element.dataset.base ?? '/url?url='
    element.href = base + encodeURIComponent(value) + (element.dataset.end ?? '')
    element.textContent = show(element.dataset.cut === undefined ? value : String(value).slice(0, Number(element.dataset.cut)))
  },
  SPAN(element, value) {
    if (element.classList.contains('pill')) element.className = pills[value] ?? 'pill'
    element.textContent = show(value)
  },
}

function show(value) {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return value.toLocaleString('en-US')
  return String(typeof value === 'object' ? JSON.stringify(value) : value).replace(unshowable, '\\ufffd')
}

function fill(row, values) {
  for (const element of row.querySelectorAll('[data-field]')) {
    const name = element.dataset.field
    if (!(name in values)) continue
    const write = writers[element.tagName] ?? writers.SPAN
    write(element, values[name] ?? '')
  }
}

const waiting = []
let isScheduled = false
let added = 0
let saidAt = 0

function schedule(work) {
  waiting.push(work)
  if (waiting.length > 2000) waiting.splice(0, waiting.length - 2000)
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    for (const one of waiting.splice(0)) one()
    say()
  })
}

// Not more often than somebody who listens to it can bear.
function say(words) {
  if (words === undefined && (added === 0 || Date.now() - saidAt < 5000)) return
  saidAt = Date.now()
  status.dataset.state = 'on'
  status.textContent = words ?? 'Live, ' + added.toLocaleString('en-US') + ' new'
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

function passes(values) {
  return Object.entries(match).every(([name, value]) => value === '' || values[name] === value)
}

function rowOf(id) {
  return document.querySelector('[data-live="jobs"] [data-id="' + CSS.escape(id) + '"]')
}

function addNote(name) {
  return (values) => {
    if (passes(values)) schedule(() => addRow(name, { ...values, at: values.ts ?? Date.now() }))
  }
}

const listeners = {
  queue(values) {
    addNote('queue')(values)
    schedule(() => {
      const row = rowOf(String(values.jobId))
      if (row === null) return
      const events = row.querySelector('[data-field="events"]')
      const count = Number(events.textContent.replaceAll(',', '')) + 1
      fill(row, { events: count, lastEventAt: Date.now() })
    })
  },
  problem: addNote('problem'),
  milestone: addNote('milestone'),
  progress(values) {
    schedule(() => {
      for (const element of document.querySelectorAll('[data-counter]')) {
        const value = values[element.dataset.counter]
        if (typeof value === 'number') element.textContent = show(value)
      }
    })
  },
  jobs({ items }) {
    schedule(() => {
      for (const job of [...items].reverse()) {
        const row = rowOf(job.id) ?? addRow('jobs', { ...job, events: 0 }, job.id)
        if (row) fill(row, { status: job.status, startedAt: job.startedAt })
        const one = document.querySelector('[data-job="' + CSS.escape(job.id) + '"]')
        if (one) fill(one, { status: job.status })
      }
    })
  },
  done({ jobId, endedAt, status }) {
    schedule(() => {
      const one = rowOf(String(jobId)) ?? document.querySelector('[data-job="' + CSS.escape(String(jobId)) + '"]')
      if (one) fill(one, status === undefined ? { endedAt } : { endedAt, status })
    })
  },
}

document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
showTimes(document)
setInterval(() => showTimes(document), 15000)

let events
let hiding

function watch(words) {
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
  events.addEventListener('open', () => say(words))
  events.addEventListener('error', () => {
    status.dataset.state = 'off'
    status.textContent = 'Not live: reload to see what is new'
  })
}

function leave() {
  events?.close()
  events = undefined
}

function comeBack() {
  clearTimeout(hiding)
  if (events === undefined) watch('Live again: reload to see what came meanwhile')
}

if (body.dataset.events !== undefined) {
  watch('Live')
  // Browsers keep few connections to one server: a page that nobody looks at gives its own up.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hiding = setTimeout(leave, 60000)
    else comeBack()
  })
  addEventListener('pagehide', leave)
  addEventListener('pageshow', comeBack)
}
`
