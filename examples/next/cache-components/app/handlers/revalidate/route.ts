export { POST } from '../../../../web/app/handlers/revalidate/route'
