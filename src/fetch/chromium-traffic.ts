import type { CDPSession } from 'playwright-core'

/** Requests that a page does not wait for, or that have no end. */
const UNWAITED: ReadonlySet<string> = new Set(['EventSource', 'WebSocket', 'Ping', 'Media', 'Manifest', 'Prefetch'])

/** What a page is asking for. */
export class Traffic {
  readonly #session: CDPSession
  /** Requests that have no end yet, by their ids, with the document that asked for them. */
  readonly #pending = new Map<string, string>()
  /** Documents in the order in which they first asked for something: each for itself before all else. */
  readonly #documents = new Map<string, number>()
  /** Requests that there were. */
  count = 0

  constructor(session: CDPSession) {
    this.#session = session
    session.on('Network.requestWillBeSent', this.#begin)
    session.on('Network.responseReceived', this.#hear)
    session.on('Network.loadingFinished', this.#end)
    session.on('Network.loadingFailed', this.#end)
    session.on('Page.frameNavigated', this.#replace)
  }

  /** Requests that have no end yet. */
  get pending(): number {
    return this.#pending.size
  }

  /** Looks no longer. */
  stop(): void {
    this.#session.off('Network.requestWillBeSent', this.#begin)
    this.#session.off('Network.responseReceived', this.#hear)
    this.#session.off('Network.loadingFinished', this.#end)
    this.#session.off('Network.loadingFailed', this.#end)
    this.#session.off('Page.frameNavigated', this.#replace)
  }

  readonly #begin = ({ requestId, loaderId, type = 'Other' }: Begun): void => {
    // What no document asks for is for a worker, and the page does not hear of its end.
    if (UNWAITED.has(type) || loaderId === '') return
    if (!this.#documents.has(loaderId)) this.#documents.set(loaderId, this.#documents.size)
    this.count++
    this.#pending.set(requestId, loaderId)
  }

  /** A body that no script reads has no end; the page itself counts those that are read. */
  readonly #hear = ({ requestId, type }: { requestId: string; type: string }): void => {
    if (type === 'Fetch') this.#pending.delete(requestId)
  }

  readonly #end = ({ requestId }: { requestId: string }): void => {
    this.#pending.delete(requestId)
  }

  /** Of what earlier documents asked for, themselves included where one was still arriving, no end may be heard of. */
  readonly #replace = ({ frame }: Navigated): void => {
    const now = this.#documents.get(frame.loaderId)
    if (frame.parentId !== undefined || now === undefined) return
    for (const [requestId, loaderId] of this.#pending) {
      if ((this.#documents.get(loaderId) ?? now) < now) this.#pending.delete(requestId)
    }
  }
}

interface Begun {
  readonly requestId: string
  readonly loaderId: string
  readonly type?: string
}

interface Navigated {
  readonly frame: { readonly parentId?: string; readonly loaderId: string }
}
