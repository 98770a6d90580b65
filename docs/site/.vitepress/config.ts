import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'
import { drawings } from './drawings.ts'
import { repositoryLinks } from './links.ts'
import { pages, rewrites } from './pages.ts'
import { sidebar } from './sidebar.ts'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const repository = process.env['GITHUB_REPOSITORY']

export default defineConfig({
  title: 'Fastify Factories',
  description: 'Fast, honest adapters for Fastify, and the benchmark that proves it',
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: root,
  srcExclude: ['**/{node_modules,dist,results,.changeset,.next,test}/**', 'docs/site/**', '**/CHANGELOG.md'],
  outDir: fileURLToPath(new URL('dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('cache', import.meta.url)),
  rewrites: rewrites(root),
  markdown: {
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
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: sidebar(root),
    nav: [
      { text: 'Measurements', link: '/docs/measurements' },
      { text: 'Architecture', link: '/docs/architecture' },
    ],
    ...(repository && { socialLinks: [{ icon: 'github', link: `https://github.com/${repository}` }] }),
  },
})
