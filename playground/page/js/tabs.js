// The tabs of the page, opened from elsewhere on it.

/** @param {string} id  as gr.Tab has it */
export function openTab(id) {
  const button = document.querySelector(`#tabs button[role="tab"][data-tab-id="${CSS.escape(id)}"]`);
  if (button instanceof HTMLElement) button.click();
}
