import type { Tool } from './tool.ts'
import { addSource } from './tools/add-source.ts'
import { cancelCrawl } from './tools/cancel-crawl.ts'
import { checkCode } from './tools/check-code.ts'
import { crawlStatus } from './tools/crawl-status.ts'
import { exportPack } from './tools/export-pack.ts'
import { fetchUrl } from './tools/fetch-url.ts'
import { findVersion } from './tools/find-version.ts'
import { getChunk } from './tools/get-chunk.ts'
import { indexStatistics } from './tools/index-statistics.ts'
import { listOutline } from './tools/list-outline.ts'
import { listSources } from './tools/list-sources.ts'
import { listSymbols } from './tools/list-symbols.ts'
import { readPage } from './tools/read-page.ts'
import { recrawlSource } from './tools/recrawl-source.ts'
import { refreshSource } from './tools/refresh-source.ts'
import { removeSource } from './tools/remove-source.ts'
import { searchDocs } from './tools/search-docs.ts'
import { syncProject } from './tools/sync-project.ts'
import { whatChanged } from './tools/what-changed.ts'

/** The tools that an agent needs to ask questions. */
export const ASK_TOOLS: readonly Tool[] = [searchDocs, readPage, listSources, addSource, crawlStatus, fetchUrl]

/** All tools, in list order. */
export const TOOLS: readonly Tool[] = [
  searchDocs,
  listSources,
  addSource,
  removeSource,
  crawlStatus,
  recrawlSource,
  refreshSource,
  cancelCrawl,
  indexStatistics,
  findVersion,
  whatChanged,
  fetchUrl,
  readPage,
  getChunk,
  listOutline,
  listSymbols,
  exportPack,
  syncProject,
  checkCode,
]
