export default function Page({ query, agent }) {
  return (
    <main>
      <h1>Old SSR</h1>
      <p>{JSON.stringify({ query, agent })}</p>
    </main>
  )
}

export function getServerSideProps({ query, req, res }) {
  if (query.missing !== undefined) return { notFound: true }
  if (query.go !== undefined) return { redirect: { destination: '/ssr', permanent: false } }
  if (query.header !== undefined) res.setHeader('x-own', 'yes')
  return { props: { query, agent: req.headers['user-agent'] ?? null } }
}
