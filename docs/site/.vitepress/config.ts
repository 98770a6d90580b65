import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'
import { drawings } from './drawings.ts'
import { repositoryLinks } from './links.ts'
import { pages, rewrites } from './pages.ts'
import { sidebar } from './sidebar.ts'
import { nameThePackage, search } from './titles.ts'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const repository = process.env['GITHUB_REPOSITORY']
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3451b2" d="M18 2 6 18h8l-2 12 14-18h-9z"/></svg>`

export default defineConfig({
  title: 'Fastify Factories',
  description: 'Fast, honest adapters for Fastify, and the benchmark that proves it',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: root,
  srcExclude: ['**/{node_modules,dist,results,.changeset,.next,test}/**', 'docs/site/**', '**/CHANGELOG.md'],
  outDir: fileURLToPath(new URL('dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('cache', import.meta.url)),
  rewrites: rewrites(root),
  transformPageData: nameThePackage,
  markdown: {
    // Shiki has no grammar for the language of Varnish.
    languageAlias: { vcl: 'c' },
    // Anchors are those of GitHub, so that a link works in both places.
    anchor: { slugify: (heading) => slug(heading) },
    config: (markdown) => {
      repositoryLinks(markdown, pages(root), repository)
      drawings(markdown)
    },
  },
  vite: {
    // The pages are outside of this package, and could not find its dependencies.
    resolve: {
      alias: [
        { find: /^vue$/, replacement: require.resolve('vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: require.resolve('vue/server-renderer') },
      ],
    },
    plugins: [
      {
        name: 'dependencies-of-vitepress',
        // VitePress names its own dependencies from the folder of the pages, which has no node_modules with them.
        configResolved: ({ optimizeDeps }) => {
          optimizeDeps.include = optimizeDeps.include?.filter((name) => !name.startsWith('vitepress > ')) ?? []
        },
      },
    ],
    // The HTML files under the pages belong to examples.
    optimizeDeps: { entries: [] },
    // The search index and the sidebar are one file each.
    build: { chunkSizeWarningLimit: 3000 },
  },
  themeConfig: {
    search,
    outline: { level: [2, 3] },
    sidebar: sidebar(root),
    nav: [
      { text: 'Measurements', link: '/docs/measurements' },
      { text: 'Architecture', link: '/docs/architecture' },
    ],
    ...(repository && { socialLinks: [{ icon: 'github', link: `https://github.com/${repository}` }] }),
  },
})
