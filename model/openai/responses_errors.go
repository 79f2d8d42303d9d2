package openai

import (
	"rein.example/rein/event"
	"rein.example/rein/message"
	"rein.example/rein/model"
)

// responsesError makes the error of what a server reported, as [serverError]
// does. In mid-stream there is no status that would say that it was the request;
// the API's codes do.
func responsesError(status int, body []byte, wait message.Count) *model.Error {
	e := serverError(status, body, wait)
	if status == 0 && e.Class == event.ClassServer && isRequestCode(e.Code) {
		e.Class = event.ClassBadRequest
	}
	return e
}

// isRequestCode knows the codes of failed responses that say what is wrong with
// the request as it stands, so that another try would fail as well.
func isRequestCode(code string) bool {
	switch code {
	case "invalid_prompt", "data_residency_mismatch",
		"invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large",
		"image_too_small", "image_parse_error", "invalid_image_mode",
		"image_file_too_large", "unsupported_image_media_type", "empty_image_file", "failed_to_download_image",
		"image_file_not_found", "invalid_request_error", "unsupported_parameter", "invalid_value":
		return true
	}
	return false
}
