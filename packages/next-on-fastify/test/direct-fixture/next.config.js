export default {
  headers: async () => [{ source: '/ruled', headers: [{ key: 'x-ruled', value: 'yes' }] }],
  redirects: async () => [
    { source: '/conditional', has: [{ type: 'cookie', key: 'go' }], destination: '/echo', permanent: false },
  ],
  rewrites: async () => ({
    beforeFiles: [{ source: '/items/rewritten', destination: '/echo' }],
    afterFiles: [],
    fallback: [{ source: '/elsewhere/:path*', destination: '/api/any' }],
  }),
}
