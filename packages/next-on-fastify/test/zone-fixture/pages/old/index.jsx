export const getStaticProps = () => ({ props: {}, revalidate: 3600 })

export default function Old() {
  return <h1>Old of {process.env.ZONE}</h1>
}
