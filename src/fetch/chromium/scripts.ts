/** Name of the page's global function through which {@link TRACK_ACTIVITY_SCRIPT} reports its counters. */
const ACTIVITY_GLOBAL = '__pharosQuiet'

/** Longest timer that rendering waits for. A longer timer changes the page later than a reader would wait. */
const MAX_AWAITED_TIMER_MS = 2000

/** Longest interval that rendering waits for. Longer intervals belong to clocks and rotating content. */
const MAX_AWAITED_INTERVAL_MS = 500

/** Longest wait for a page that is never idle. */
const MAX_IDLE_WAIT_MS = 1000

/**
 * Runs in every frame before its own scripts. It counts pending work: short timers, animation frames and responses that scripts or workers
 * wait for. It counts document changes, also in shadow trees, and disables APIs that a page does not need in order to be read.
 */
export const TRACK_ACTIVITY_SCRIPT: string = `(() => {
  const RELOADED = 1
  if (globalThis === top && location.protocol !== 'about:' && performance.navigation.type !== RELOADED) {
    // Clears what the previous page left in this window. Accessing the storage of a sandboxed page throws.
    try { sessionStorage.clear() } catch {}
    globalThis.name = ''
  }
  const { setTimeout: set, clearTimeout: clear, setInterval: repeat, requestIdleCallback: whenIdle, MutationObserver: Observer } = globalThis
  const due = new Set()
  let changes = 0
  const report = (resolve) => resolve({ isLoaded: document.readyState === 'complete', due: due.size, changes })
  // Waits until the page is idle, so that received responses have been processed.
  const reportWhenIdle = () => new Promise((resolve) => {
    set(() => whenIdle(() => report(resolve), { timeout: ${MAX_IDLE_WAIT_MS} }), 0)
  })
  Object.defineProperty(globalThis, '${ACTIVITY_GLOBAL}', { value: reportWhenIdle })

  globalThis.setTimeout = function setTimeout(task, delay, ...rest) {
    const id = set.call(globalThis, task, delay, ...rest)
    if (delay > ${MAX_AWAITED_TIMER_MS}) return id
    due.add(id)
    // This second timer fires right after the first, even if the task of the first throws.
    set.call(globalThis, () => due.delete(id), delay)
    return id
  }
  globalThis.setInterval = function setInterval(task, delay, ...rest) {
    const id = repeat.call(globalThis, task, delay, ...rest)
    if (!(delay > ${MAX_AWAITED_INTERVAL_MS})) due.add(id)
    return id
  }
  // Each of the two functions clears both timeouts and intervals.
  globalThis.clearTimeout = globalThis.clearInterval = function clearTimeout(id) {
    due.delete(Number(id))
    return clear.call(globalThis, id)
  }
  const { requestAnimationFrame: animate, cancelAnimationFrame: cancelFrame } = globalThis
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
    return cancelFrame.call(globalThis, id)
  }

  /** Counts an operation as pending until it has ended and its waiting callbacks have run. */
  const begin = () => {
    const mark = {}
    due.add(mark)
    return () => set(() => due.delete(mark), 0)
  }
  const count = (promise) => {
    const end = begin()
    promise.then(end, end)
  }
  /** Wraps the named functions so that onCall gets the result and the receiver of each call. Skips functions that the browser lacks. */
  const wrap = (object, names, onCall) => {
    for (const name of names) {
      const original = object?.[name]
      if (original === undefined) continue
      object[name] = function (...given) {
        const result = original.apply(this, given)
        onCall(result, this)
        return result
      }
    }
  }
  wrap(globalThis, ['fetch'], count)
  wrap(Response.prototype, ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'], count)
  wrap(globalThis.WebAssembly, ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming'], count)

  // Objects that read a response in pieces: its body, streams derived from it, and readers. The page's own streams are not counted, because
  // they may never end.
  const parts = new WeakSet()
  const follow = (result, source) => {
    if (parts.has(source)) for (const part of [result].flat()) parts.add(part)
  }
  const countPart = (promise, source) => {
    if (parts.has(source)) count(promise)
  }
  const { get: readBody } = Object.getOwnPropertyDescriptor(Response.prototype, 'body')
  Object.defineProperty(Response.prototype, 'body', {
    get() {
      const body = readBody.call(this)
      if (body !== null) parts.add(body)
      return body
    },
  })
  const { prototype: streams } = ReadableStream
  wrap(streams, ['getReader', 'pipeThrough', 'tee', 'values', Symbol.asyncIterator], follow)
  wrap(streams, ['pipeTo'], countPart)
  for (const { prototype } of [ReadableStreamDefaultReader, ReadableStreamBYOBReader]) {
    wrap(prototype, ['read'], countPart)
  }
  wrap(streams.values && Object.getPrototypeOf(new ReadableStream().values()), ['next'], countPart)

  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (...given) {
    const end = begin()
    this.addEventListener('loadend', end, { once: true })
    try {
      return send.apply(this, given)
    } catch (error) {
      end()
      throw error
    }
  }

  // A worker counts as pending from its start, and from each message to it, until it replies.
  const countReplies = (worker, port) => {
    let end = begin()
    const endReply = () => end()
    port.addEventListener('message', endReply)
    worker.addEventListener('error', endReply)
    const { postMessage } = port
    port.postMessage = function (...given) {
      end()
      end = begin()
      return postMessage.apply(port, given)
    }
    return endReply
  }
  const { Worker: Dedicated, SharedWorker: Shared } = globalThis
  globalThis.Worker = class Worker extends Dedicated {
    #endReply = countReplies(this, this)
    terminate() {
      this.#endReply()
      return super.terminate()
    }
  }
  globalThis.SharedWorker = class SharedWorker extends Shared {
    #endReply = countReplies(this, this.port)
  }

  const observer = new Observer((records) => { changes += records.length })
  const watch = (root) => observer.observe(root, { childList: true, subtree: true, characterData: true })
  watch(document)
  wrap(Element.prototype, ['attachShadow'], watch)

  // Pages use these APIs without checking whether they exist, so the APIs stay and refuse every use.
  if (globalThis.ServiceWorkerContainer) Object.defineProperty(ServiceWorkerContainer.prototype, 'register', {
    value: async function register() { throw new DOMException('Service workers are off.', 'SecurityError') },
  })
  globalThis.Notification = class Notification extends EventTarget {
    static permission = 'denied'
    static async requestPermission(callback) {
      callback?.('denied')
      return 'denied'
    }
    close() {}
  }
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name]
})()`

/**
 * Reports, once the page is idle, whether the document is loaded, how much work is pending and how many changes there were. If the page's
 * policy blocks scripts, timers never fire, so this reports at once. In such a page, `noscript` has child elements.
 */
export const READ_ACTIVITY_SCRIPT: string = `(() => {
  const probe = document.createElement('div')
  probe.innerHTML = '<noscript><i></i></noscript>'
  if (probe.querySelector('i') === null) return globalThis.${ACTIVITY_GLOBAL}()
  return { isLoaded: document.readyState === 'complete', due: 0, changes: 0 }
})()`

/** Result of {@link READ_ACTIVITY_SCRIPT}. */
export interface PageActivity {
  readonly isLoaded: boolean
  /** Number of timers, animation frames and responses that the page still waits for. */
  readonly due: number
  readonly changes: number
}

/**
 * Writes a script that returns the document as HTML, its URL, and whether it shows any text. Open shadow trees are inlined without their
 * style sheets, which apply only inside them, and `noscript` elements are left out.
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

/** Result of {@link writeSerializer}. */
export interface SerializedPage {
  readonly url: string
  readonly isEmpty: boolean
  /** Null when the HTML is too large. */
  readonly html: string | null
}
