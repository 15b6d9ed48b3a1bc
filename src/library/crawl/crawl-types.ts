import type { CrawlTypeRecord } from '../ports/job-log.ts'

/** Former default descriptions, by crawl type. A library that still has one of them gets the current description. */
export const FORMER_DESCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  'sitemap-only': ['Reads what the sitemaps of the site name, and follows no links.'],
  'basic-with-sitemap': ['Follows links, and reads what the sitemaps of the site name.'],
  intelligent: [
    'Is to plan where to begin from what is known of the site. Planning comes later: until then it crawls as basic-with-sitemap.',
    'Learns how the site writes its addresses, supposes the hubs that this implies, looks whether they are there, and visits first what teaches most.',
  ],
  history: [
    'Like intelligent, and goes through the further pages and archives of every hub first. For sites that an intelligent crawl has understood.',
  ],
}

/** Default crawl types of a library, which its owner may change. */
export const CRAWL_TYPE_SEEDS: readonly CrawlTypeRecord[] = [
  {
    name: 'basic',
    description: 'Follows links from the start.',
    declaration: { crawlType: 'basic', useSitemap: false, sitemapOnly: false },
  },
  {
    name: 'sitemap-only',
    description: 'Reads the pages listed in the sitemaps of the site, and follows no links.',
    declaration: { crawlType: 'sitemap-only', useSitemap: true, sitemapOnly: true },
  },
  {
    name: 'basic-with-sitemap',
    description: 'Follows links, and reads the pages listed in the sitemaps of the site.',
    declaration: { crawlType: 'basic-with-sitemap', useSitemap: true, sitemapOnly: false },
  },
  {
    name: 'intelligent',
    description:
      'Learns the address patterns of the site, guesses the addresses of further hubs from them, checks the guesses, and visits the most informative pages first.',
    declaration: { crawlType: 'intelligent', useSitemap: true, sitemapOnly: false },
  },
  {
    name: 'history',
    description:
      'Like intelligent, but first visits the later pages and archives of every hub. For sites that an intelligent crawl has already learned.',
    declaration: { crawlType: 'history', useSitemap: true, sitemapOnly: false },
  },
  {
    name: 'docs',
    description: 'For documentation: reads llms.txt and the sitemaps, and follows links.',
    declaration: { crawlType: 'docs', useSitemap: true, sitemapOnly: false },
  },
]
