import type { DefaultTheme, PageData } from 'vitepress'

/** The package of a page of its documentation. Pages of several packages have the same title, such as "Options". */
function packageOf(page: string): string | undefined {
  return /^packages\/([^/]+)\/docs\//.exec(page)?.[1]
}

/** Names the package in the title of a page, for tabs of browsers and for search engines. */
export function nameThePackage(page: PageData): Partial<PageData> {
  const name = packageOf(page.relativePath)
  return name === undefined ? {} : { title: `${page.title} · ${name}` }
}

/** Names the package before the title of a page in the results of the search. */
export const search: DefaultTheme.Config['search'] = {
  provider: 'local',
  options: {
    _render: (source, env, markdown) => {
      const html = markdown.render(source, env)
      const name = packageOf(env.relativePath)
      return name === undefined ? html : html.replace(/<h1[^>]*>/, `$&${name}: `)
    },
  },
}
