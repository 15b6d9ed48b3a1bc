/** A page in the navigation. */
export interface NavigationPage {
  readonly label: string
  /** The address on the server. The dashboard routes its own pages behind the `#`. */
  readonly path: string
}

/** An entry of the bar, with the pages that belong to it. */
export interface NavigationGroup extends NavigationPage {
  /** The pages of the group, shown below the bar; empty if the group is one page. */
  readonly pages: readonly NavigationPage[]
}

/** The group that is shown only if an analysis or a plan has found something. */
export const UNDERSTANDING = 'Understanding'

/** The navigation of the server-rendered pages, the dashboard and the local page. */
export const NAVIGATION: readonly NavigationGroup[] = [
  { label: 'Home', path: '/#/', pages: [] },
  { label: 'Search', path: '/#/search', pages: [] },
  {
    label: 'Sources',
    path: '/#/sources',
    pages: [
      { label: 'All sources', path: '/#/sources' },
      { label: 'Duplicates', path: '/#/duplicates' },
      { label: 'Local folder', path: '/local/' },
    ],
  },
  {
    label: 'Crawls',
    path: '/queues/ssr',
    pages: [
      { label: 'All crawls', path: '/queues/ssr' },
      { label: 'Problems', path: '/problems/ssr' },
      { label: 'Milestones', path: '/milestones/ssr' },
      { label: 'Errors', path: '/errors' },
      { label: 'Hosts', path: '/domains' },
      { label: 'URLs', path: '/urls' },
    ],
  },
  {
    label: UNDERSTANDING,
    path: '/gazetteer',
    pages: [
      { label: 'Places', path: '/gazetteer' },
      { label: 'Hubs', path: '/hubs' },
      { label: 'Analysis', path: '/analysis/ssr' },
      { label: 'Gazetteer', path: '/gazetteer/places' },
    ],
  },
]

/** The group of a page; undefined for a page outside the navigation. */
export function groupOf(label: string | undefined): NavigationGroup | undefined {
  return NAVIGATION.find((group) => group.label === label || group.pages.some((page) => page.label === label))
}
