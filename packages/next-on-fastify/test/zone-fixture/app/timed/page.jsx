export const revalidate = 3600

export default function Page() {
  return <h1>Timed of {process.env.ZONE}</h1>
}
