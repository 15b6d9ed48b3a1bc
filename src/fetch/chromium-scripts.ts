/** Where the page keeps what {@link WATCH} counts. */
const BOOK = '__pharosQuiet'

/** Timers that are waited for: longer ones are for what comes later than a reader would wait. */
const SHORT_TIMER_MS = 2000

/** Intervals that are waited for: longer ones are clocks, and what changes by itself. */
const SHORT_INTERVAL_MS = 500

/** Longest wait for a page that is never idle. */
const IDLE_MS = 1000

/**
 * Runs in every frame before its own scripts. It counts what is due, which is short timers, frames of animations and answers that a
 * script waits for, those of workers too, and changes of the document, also in shadow trees; and it takes away what no page needs in order to be read.
 */
export const WATCH: string = `(() => {
  const RELOADED = 1
  if (globalThis === top && location.protocol !== 'about:' && performance.navigation.type !== RELOADED) {
    // What the page before left in this window. One in a sandbox has no storage, and throws where it is asked for.
    try { sessionStorage.clear() } catch {}
    globalThis.name = ''
  }
  const { setTimeout: set, clearTimeout: clear, setInterval: repeat, requestIdleCallback: whenIdle, MutationObserver: Observer } = globalThis
  const due = new Set()
  let changes = 0
  const look = (tell) => tell({ isLoaded: document.readyState === 'complete', due: due.size, changes })
  // When nothing else is left to do, so that what has arrived is worked off.
  const lookWhenIdle = () => new Promise((tell) => set(() => whenIdle(() => look(tell), { timeout: ${IDLE_MS} }), 0))
  Object.defineProperty(globalThis, '${BOOK}', { value: lookWhenIdle })

  globalThis.setTimeout = function setTimeout(task, delay, ...rest) {
    const id = set.call(globalThis, task, delay, ...rest)
    if (delay > ${SHORT_TIMER_MS}) return id
    due.add(id)
    // It is due right after the other, whatever becomes of that.
    set.call(globalThis, () => due.delete(id), delay)
    return id
  }
  globalThis.setInterval = function setInterval(task, delay, ...rest) {
    const id = repeat.call(globalThis, task, delay, ...rest)
    if (!(delay > ${SHORT_INTERVAL_MS})) due.add(id)
    return id
  }
  // Either ends both.
  globalThis.clearTimeout = globalThis.clearInterval = function clearTimeout(id) {
    due.delete(Number(id))
    return clear.call(globalThis, id)
  }
  const { requestAnimationFrame: animate, cancelAnimationFrame: calm } = globalThis
  globalThis.requestAnimationFrame = function requestAnimationFrame(task) {
    const id = animate.call(globalThis, (time) => {
      due.delete('frame ' + id)
      return task(time)
    })
    due.add('frame ' + id)
    return id
  }
  globalThis.cancelAnimationFrame = function cancelAnimationFrame(id) {
    due.delete('frame ' + id)
    return calm.call(globalThis, id)
  }

  /** Counts something until it has an end and whoever waits for it has heard of that. */
  const begin = () => {
    const mark = {}
    due.add(mark)
    return () => set(() => due.delete(mark), 0)
  }
  const track = (object, name) => {
    const original = object[name]
    object[name] = function (...given) {
      const end = begin()
      const result = original.apply(this, given)
      result.then(end, end)
      return result
    }
  }
  track(globalThis, 'fetch')
  for (const name of ['arrayBuffer', 'blob', 'formData', 'json', 'text']) track(Response.prototype, name)
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (...given) {
    this.addEventListener('loadend', begin(), { once: true })
    return send.apply(this, given)
  }

  // A worker is heard of when it begins, and after each message to it.
  const listen = (worker, port) => {
    let end = begin()
    const heard = () => end()
    port.addEventListener('message', heard)
    worker.addEventListener('error', heard)
    const { postMessage } = port
    port.postMessage = function (...given) {
      end()
      end = begin()
      return postMessage.apply(port, given)
    }
    return heard
  }
  const { Worker: Dedicated, SharedWorker: Shared } = globalThis
  globalThis.Worker = class Worker extends Dedicated {
    #heard = listen(this, this)
    terminate() {
      this.#heard()
      return super.terminate()
    }
  }
  globalThis.SharedWorker = class SharedWorker extends Shared {
    #heard = listen(this, this.port)
  }

  const observer = new Observer((records) => { changes += records.length })
  const watch = (root) => observer.observe(root, { childList: true, subtree: true, characterData: true })
  watch(document)
  const { attachShadow } = Element.prototype
  Element.prototype.attachShadow = function (...given) {
    const root = attachShadow.apply(this, given)
    watch(root)
    return root
  }
  delete Navigator.prototype.serviceWorker
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'Notification']) delete globalThis[name]
})()`

/**
 * Says whether the document is loaded, how much is due and how many changes there were, when the page has nothing else to do. Where
 * the policy of a page lets no script run, no timer would ever tell: `noscript` has elements there.
 */
export const LOOK: string = `(() => {
  const probe = document.createElement('div')
  probe.innerHTML = '<noscript><i></i></noscript>'
  if (probe.querySelector('i') === null) return globalThis.${BOOK}()
  return { isLoaded: document.readyState === 'complete', due: 0, changes: 0 }
})()`

/** What {@link LOOK} gives. */
export interface Look {
  readonly isLoaded: boolean
  readonly due: number
  readonly changes: number
}

/**
 * Gives the document as HTML, its address, and whether it shows any text. Open shadow trees stand where they are shown, without
 * their style sheets, which are for them alone; what is for browsers without scripts is left out.
 */
export function writeSerializer(maxBytes: number): string {
  return `(() => {
  for (const element of document.querySelectorAll('noscript')) element.remove()
  const inert = document.implementation.createHTMLDocument('')
  const hasShadow = (root) => {
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot !== null) return true
    return false
  }
  const isSlot = (node) => node.localName === 'slot' && node.getRootNode() instanceof ShadowRoot
  const childrenOf = (node) => {
    const within = node.shadowRoot ? [...node.shadowRoot.childNodes].filter((child) => !isStyle(child)) : node.childNodes
    return [...within].flatMap((child) => (isSlot(child) ? shownIn(child) : [child]))
  }
  const shownIn = (slot) => {
    const assigned = slot.assignedNodes()
    return assigned.length > 0 ? assigned : childrenOf(slot)
  }
  const isStyle = (node) => node.localName === 'style' || (node.localName === 'link' && node.relList.contains('stylesheet'))
  const flatten = (node) => {
    const copy = inert.importNode(node, node.localName === 'template')
    if (node.nodeType === Node.ELEMENT_NODE && node.localName !== 'template') copy.append(...childrenOf(node).map(flatten))
    return copy
  }
  const hasText = (within) => {
    const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT)
    while (texts.nextNode() !== null) {
      const { parentNode, data } = texts.currentNode
      if (!['script', 'style'].includes(parentNode.localName) && data.trim() !== '') return true
    }
    return false
  }
  const root = document.documentElement
  const { doctype } = document
  const tree = root !== null && hasShadow(document) ? flatten(root) : root
  const html = (doctype === null ? '' : new XMLSerializer().serializeToString(doctype) + '\\n') + (tree?.outerHTML ?? '')
  return {
    url: document.URL,
    isEmpty: tree === null || !hasText(tree.querySelector('body') ?? tree),
    html: html.length > ${maxBytes} ? null : html,
  }
})()`
}

/** What {@link writeSerializer} gives. */
export interface Serialized {
  readonly url: string
  readonly isEmpty: boolean
  /** Null for what is too large. */
  readonly html: string | null
}
