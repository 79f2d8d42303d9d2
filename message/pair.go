package message
