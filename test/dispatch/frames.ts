import type { ProgressFrame } from '../../src/library/dispatch/frames.ts'

/** A report of a crawl that has done nothing but what is given. */
export function progressFrame(given: Partial<ProgressFrame> = {}): ProgressFrame {
  return {
    visited: 0,
    downloaded: 0,
    found: 0,
    saved: 0,
    unchanged: 0,
    skipped: 0,
    errors: 0,
    bytes: 0,
    queueSize: 0,
    currentDownloadsCount: 0,
    currentDownloads: [],
    paused: false,
    robotsLoaded: false,
    sitemapCount: 0,
    sitemapEnqueued: 0,
    domain: null,
    domainRpm: null,
    domainLimit: null,
    domainBackoffMs: 0,
    domainRateLimited: false,
    domainIntervalMs: 0,
    perHost: {},
    perHostLimits: {},
    crawlId: null,
    sourceId: null,
    ...given,
  }
}
