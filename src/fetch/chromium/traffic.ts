import type { CDPSession } from 'playwright-core'

/** Types of requests that a page does not wait for, or that never end. */
const UNAWAITED_TYPES: ReadonlySet<string> = new Set([
  'EventSource',
  'WebSocket',
  'Ping',
  'Media',
  'Manifest',
  'Prefetch',
])

/** Counts the requests of a page that are in progress. */
export class Traffic {
  readonly #session: CDPSession
  /** Requests in progress by id, with the loader id of their document. */
  readonly #pending = new Map<string, string>()
  /** Sequence number of each document by loader id. The first request with a loader id is always for the document itself. */
  readonly #documentOrder = new Map<string, number>()
  /** Number of requests so far. */
  count = 0

  constructor(session: CDPSession) {
    this.#session = session
    session.on('Network.requestWillBeSent', this.#begin)
    session.on('Network.responseReceived', this.#noteResponse)
    session.on('Network.loadingFinished', this.#end)
    session.on('Network.loadingFailed', this.#end)
    session.on('Page.frameNavigated', this.#dropEarlierRequests)
  }

  /** Number of requests in progress. */
  get pending(): number {
    return this.#pending.size
  }

  /** Stops listening. */
  stop(): void {
    this.#session.off('Network.requestWillBeSent', this.#begin)
    this.#session.off('Network.responseReceived', this.#noteResponse)
    this.#session.off('Network.loadingFinished', this.#end)
    this.#session.off('Network.loadingFailed', this.#end)
    this.#session.off('Page.frameNavigated', this.#dropEarlierRequests)
  }

  readonly #begin = ({ requestId, loaderId, type = 'Other' }: RequestEvent): void => {
    // A request without a document belongs to a worker, and the page's session gets no event for its end.
    if (UNAWAITED_TYPES.has(type) || loaderId === '') return
    if (!this.#documentOrder.has(loaderId)) this.#documentOrder.set(loaderId, this.#documentOrder.size)
    this.count++
    this.#pending.set(requestId, loaderId)
  }

  /**
   * A `fetch` whose body no script reads gets no end event, so the response already ends the request here.
   * `TRACK_ACTIVITY_SCRIPT` counts the bodies that scripts read.
   */
  readonly #noteResponse = ({ requestId, type }: { requestId: string; type: string }): void => {
    if (type === 'Fetch') this.#pending.delete(requestId)
  }

  readonly #end = ({ requestId }: { requestId: string }): void => {
    this.#pending.delete(requestId)
  }

  /** Drops the requests of earlier documents after a navigation, because their end events may never arrive. */
  readonly #dropEarlierRequests = ({ frame }: NavigationEvent): void => {
    const current = this.#documentOrder.get(frame.loaderId)
    if (frame.parentId !== undefined || current === undefined) return
    for (const [requestId, loaderId] of this.#pending) {
      if ((this.#documentOrder.get(loaderId) ?? current) < current) this.#pending.delete(requestId)
    }
  }
}

interface RequestEvent {
  readonly requestId: string
  readonly loaderId: string
  readonly type?: string
}

interface NavigationEvent {
  readonly frame: { readonly parentId?: string; readonly loaderId: string }
}
