export const handler = async () => 'done';
