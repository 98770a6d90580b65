// What next.config.js decides by other things than the path.
export function generateStaticParams() {
  return ['plain', 'by-cookie', 'by-header', 'by-host', 'by-query', 'rewritten'].map((slug) => ({ slug }))
}

export default async function Page({ params }) {
  return <h1>{(await params).slug}</h1>
}
