const on = (type, key, value) => [{ type, key, ...(value !== undefined && { value }) }]

/** One source, built several times. */
const variants = {
  plain: {},
  basePath: { basePath: '/base' },
  trailingSlash: { trailingSlash: true },
}

export default {
  ...variants[process.env.MEMORY_FIXTURE],
  async headers() {
    return [
      { source: '/ps', headers: [{ key: 'x-of-config', value: 'yes' }] },
      // The proxy may set one of them too.
      { source: '/behind/:name?', headers: ['X-Of-Config', 'x-of-proxy'].map((key) => ({ key, value: 'of :name' })) },
      { source: '/by-cookie', has: on('cookie', 'vip'), headers: [{ key: 'x-vip', value: 'yes' }] },
      {
        source: '/by-host',
        has: [{ type: 'host', value: 'other.example' }],
        headers: [{ key: 'x-other', value: 'yes' }],
      },
    ]
  },
  async redirects() {
    return [{ source: '/by-header', has: on('header', 'x-moved'), destination: '/plain', permanent: false }]
  },
  async rewrites() {
    return {
      beforeFiles: [{ source: '/by-query', has: on('query', 'to', 'isr'), destination: '/isr' }],
      afterFiles: [{ source: '/alias', destination: '/rewritten' }],
      fallback: [],
    }
  },
}
